// Threads push into one vector of C++.
#include <cstdio>
#include <vector>
int main() {
    std::vector<int> found;
    found.reserve(64);
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 16; i++)
        if (i % 3 == 0) found.push_back(i); // races
    std::printf("%zu\n", found.size());
}
