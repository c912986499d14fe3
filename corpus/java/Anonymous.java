// Inner classes, inheritance and interfaces: a field is that of the class that declares it.
// Races: Anonymous.1.done
public class Anonymous {
    static class Worker extends Thread {
        int done;

        @Override
        public void run() {
            done = step(done);
        }

        int step(int before) {
            return before + 1;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Worker worker = new Worker() {
            @Override
            int step(int before) {
                return super.step(before) * 2;
            }
        };
        worker.start();
        int seen = worker.done;
        worker.join();
        if (seen > worker.done) {
            throw new IllegalStateException();
        }
    }
}
