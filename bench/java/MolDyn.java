// Threads compute forces between particles and meet at a barrier made of a plain array. After a program of RVPredict's Table 1.
public class MolDyn {
    static final int THREADS = 2;
    static final int PARTICLES = 6;
    static final int STEPS = 3;

    static double potential;
    static double virial;
    static int interactions;
    static final double[] POSITION = new double[PARTICLES];
    static final double[] VELOCITY = new double[PARTICLES];
    static final double[][] FORCE = new double[THREADS][PARTICLES];

    // Flags that threads set and look at, without any synchronisation.
    static class Barrier {
        final int[] flags = new int[THREADS];

        void meet(int thread) {
            flags[thread]++;
            for (int other = 0; other < THREADS; other++) {
                int looks = 0;
                while (flags[other] < flags[thread] && looks++ < 200) {
                    Thread.yield();
                }
            }
        }
    }

    static class Runner extends Thread {
        final int number;
        final Barrier barrier;

        Runner(int number, Barrier barrier) {
            super("runner-" + number);
            this.number = number;
            this.barrier = barrier;
        }

        @Override
        public void run() {
            for (int step = 0; step < STEPS; step++) {
                forces();
                barrier.meet(number);
                if (number == 0) {
                    sum();
                }
                barrier.meet(number);
                move();
                barrier.meet(number);
            }
        }

        void forces() {
            for (int one = number; one < PARTICLES; one += THREADS) {
                for (int other = one + 1; other < PARTICLES; other++) {
                    double distance = POSITION[one] - POSITION[other];
                    double strength = 1 / (0.5 + distance * distance);
                    FORCE[number][one] += strength * distance;
                    FORCE[number][other] -= strength * distance;
                    potential += strength;
                    virial -= strength * distance;
                    interactions++;
                }
            }
        }

        void sum() {
            for (int particle = 0; particle < PARTICLES; particle++) {
                for (int thread = 1; thread < THREADS; thread++) {
                    FORCE[0][particle] += FORCE[thread][particle];
                    FORCE[thread][particle] = 0;
                }
            }
        }

        void move() {
            for (int particle = number; particle < PARTICLES; particle += THREADS) {
                VELOCITY[particle] += FORCE[0][particle] * 0.01;
                POSITION[particle] += VELOCITY[particle] * 0.01;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int particle = 0; particle < PARTICLES; particle++) {
            POSITION[particle] = particle * 1.1;
        }
        Barrier barrier = new Barrier();
        Runner[] runners = new Runner[THREADS];
        for (int number = 0; number < THREADS; number++) {
            runners[number] = new Runner(number, barrier);
            runners[number].start();
        }
        for (Runner runner : runners) {
            runner.join();
        }
        System.out.println(interactions);
    }
}
