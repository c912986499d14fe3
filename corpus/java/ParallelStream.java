// A stream is worked off by several threads.
// No races.
import java.util.ArrayList;
import java.util.List;

public class ParallelStream {
    static class Box {
        int value;
    }

    public static void main(String[] arguments) {
        List<Box> boxes = new ArrayList<>();
        for (int number = 0; number < 6; number++) {
            Box box = new Box();
            box.value = number;
            boxes.add(box);
        }
        boxes.parallelStream().forEach(box -> box.value++);
        int sum = 0;
        for (Box box : boxes) {
            sum += box.value;
        }
        if (sum != 21) {
            throw new IllegalStateException();
        }
    }
}
