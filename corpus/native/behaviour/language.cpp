// Exceptions, destructors, virtual and static things, lambdas, and what the library makes of them.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

static int destroyed;
struct Counted {
  int number;
  explicit Counted(int number) : number(number) {}
  Counted(const Counted &other) : number(other.number + 1) {}
  ~Counted() { destroyed++; }
};

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Named {
  virtual const char *name() const { return "named"; }
  int padding = 3;
};
struct Square : Shape, virtual Named {
  double side = 2;
  double area() const override { return side * side; }
  const char *name() const override { return "square"; }
};
struct Circle : Shape {
  double area() const override { return 3; }
};

static int throwing(int depth) {
  Counted here(depth);
  if (depth == 0) throw std::out_of_range("bottom");
  try {
    return throwing(depth - 1) + 1;
  } catch (const std::bad_alloc &) {
    return -1;
  } catch (const std::logic_error &error) {
    if (depth == 2) throw std::runtime_error(std::string(error.what()) + "!");
    throw;
  }
}

static int guarded(int value) noexcept {
  static Counted once(value);
  return once.number;
}

thread_local Counted per_thread(10);
thread_local std::vector<int> own;
inline int shared_inline = 4;
template <class T> T largest(T one, T other) { return one < other ? other : one; }
template <class... T> auto total(T... numbers) { return (numbers + ...); }

static std::string words() {
  std::map<std::string, std::vector<int>> map;
  for (const char *word : {"one", "two", "three", "two", "a word that is too long to be kept inside of a string"})
    map[word].push_back(static_cast<int>(map.size()));
  std::ostringstream out;
  for (const auto &[word, list] : map) out << word << ':' << std::accumulate(list.begin(), list.end(), 0) << ' ';
  return out.str();
}

int main() {
  try {
    std::printf("%d\n", throwing(4));
  } catch (const std::runtime_error &error) {
    std::printf("%s %d\n", error.what(), destroyed);
  }
  try {
    throw Counted(5);
  } catch (Counted counted) {
    std::printf("%d\n", counted.number);
  }
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Square>());
  shapes.push_back(std::make_unique<Circle>());
  double area = 0;
  for (const auto &shape : shapes) {
    area += shape->area();
    if (auto *named = dynamic_cast<Named *>(shape.get())) std::printf("%s %d\n", named->name(), named->padding);
  }
  std::printf("%.1f %d %d\n", area, guarded(1), guarded(2));
  std::vector<int> numbers{5, 3, 9, 1};
  int limit = 4;
  std::sort(numbers.begin(), numbers.end(), [](int one, int other) { return one > other; });
  auto many = std::count_if(numbers.begin(), numbers.end(), [&](int number) { return number > limit; });
  std::function<int(int)> add = [=](int number) { return number + limit; };
  double (Shape::*member)() const = &Shape::area;
  std::printf("%d %d %d %.1f\n", numbers[0], static_cast<int>(many), add(3), (shapes[0].get()->*member)());
  std::thread([] {
    own.push_back(per_thread.number++);
    own.push_back(per_thread.number);
    shared_inline += own[1];
  }).join();
  std::printf("%d %d %d\n", per_thread.number, static_cast<int>(own.size()), shared_inline);
  std::variant<int, std::string> either = std::string("text");
  std::optional<double> maybe;
  auto [one, two] = std::tuple(largest(2, 3), largest(2.5, 1.5));
  std::printf("%s %d %d %.1f %d\n", std::get<std::string>(either).c_str(), maybe.has_value(), one, two, total(1, 2, 3));
  auto shared = std::make_shared<Counted>(1);
  std::weak_ptr<Counted> weak = shared;
  shared.reset();
  std::printf("%d %s\n", weak.expired(), words().c_str());
  return destroyed & 0x7F;
}
