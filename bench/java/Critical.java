// Two threads guard a critical section by a plain variable that says whose turn it is. After a small program of RVPredict's Table 1.
public class Critical {
    static class Section {
        int turn;
        boolean isDone;
    }

    static class First extends Thread {
        final Section section;

        First(Section section) {
            super("first");
            this.section = section;
        }

        @Override
        public void run() {
            int looks = 0;
            while (section.turn != 0) {
                if (++looks > 20) {
                    return;
                }
                Thread.yield();
            }
            section.turn = 1;
            section.isDone = true;
        }
    }

    static class Second extends Thread {
        final Section section;

        Second(Section section) {
            super("second");
            this.section = section;
        }

        @Override
        public void run() {
            int looks = 0;
            while (section.turn != 1) {
                if (++looks > 20) {
                    return;
                }
                Thread.yield();
            }
            section.turn = 0;
            if (section.isDone) {
                section.turn = 0;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Section section = new Section();
        First first = new First(section);
        Second second = new Second(section);
        first.start();
        second.start();
        if (!section.isDone) {
            section.turn = 0;
        }
        first.join();
        second.join();
        System.out.println(section.turn);
    }
}
