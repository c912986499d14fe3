// Each thread has a vector, and they are merged in a critical section.
#include <cstdio>
#include <vector>
int main() {
    std::vector<int> found;
#pragma omp parallel num_threads(2)
    {
        std::vector<int> own;
#pragma omp for nowait
        for (int i = 0; i < 16; i++)
            if (i % 3 == 0) own.push_back(i);
#pragma omp critical
        found.insert(found.end(), own.begin(), own.end());
    }
    std::printf("%zu\n", found.size());
}
