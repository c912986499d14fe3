// Threads trace the rows of a picture and add them up; each locks an object of its own. After a program of RVPredict's
// Table 1.
public class RayTracer {
    static final int SIZE = 6;
    static int checksum;
    static int rows;

    static class Scene {
        double lightX = 1.5;
        double lightY = 2.5;
        int tested;
    }

    static class Tracer extends Thread {
        final Scene scene;
        final int number;
        final Object lock = new Object();

        Tracer(Scene scene, int number) {
            super("tracer-" + number);
            this.scene = scene;
            this.number = number;
        }

        @Override
        public void run() {
            int sum = 0;
            for (int row = number; row < SIZE; row += 2) {
                for (int column = 0; column < SIZE; column++) {
                    sum += trace(row, column);
                }
            }
            synchronized (lock) {
                checksum = checksum + sum;
                rows += SIZE / 2;
            }
        }

        int trace(int row, int column) {
            double x = row - scene.lightX;
            double y = column - scene.lightY;
            scene.tested++;
            return (int) (255 / (1 + x * x + y * y));
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Scene scene = new Scene();
        Tracer[] tracers = {new Tracer(scene, 0), new Tracer(scene, 1)};
        for (Tracer tracer : tracers) {
            tracer.start();
        }
        for (Tracer tracer : tracers) {
            tracer.join();
        }
        System.out.println(checksum + " " + rows + " " + scene.tested);
    }
}
