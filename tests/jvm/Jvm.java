import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;

/** A JVM, which handles SIGSEGV itself: null checks, stack guards and safepoints are faults to it.  Products of arrays of
 * all the kinds that JNI knows, read and written by compiled code, while other threads meet null pointers, run out of
 * stack and make the collector work.  Prints what was wrong, then "ok".
 *
 *     java -Djvm.library=FILE Jvm.java [crash] */
public class Jvm {
    static native void direct(int n, ByteBuffer a, ByteBuffer b, ByteBuffer c);
    static native void copied(int n, double[] a, double[] b, double[] c);
    static native void critical(int n, double[] a, double[] b, double[] c);
    static native void crash();

    static final int N = 200, ROUNDS = 6;
    static volatile int wrong, nulls, overflows;
    static volatile boolean over;
    static volatile Object garbage;

    static synchronized void judge(boolean good, String what) {
        if (!good && wrong++ < 5)
            System.out.println(what);
    }

    /** B is twice the identity with an entry `at` beside it, so that C = 2 A, and one column more. */
    static double expected(DoubleBuffer a, int i, int j, int at) {
        double c = 2 * a.get(i + j * N);
        return j == at ? c + 3 * a.get(i + (j + 1) * N) : c;
    }

    static void fill(DoubleBuffer a, DoubleBuffer b, int seed) {
        for (int i = 0; i < N * N; i++) {
            a.put(i, (i * 7 + seed) % 101);
            b.put(i, i / N == i % N ? 2 : 0);
        }
        b.put(seed % (N - 1) * N + seed % (N - 1) + 1, 3);
    }

    static void check(DoubleBuffer a, DoubleBuffer c, int seed, String kind) {
        int bad = 0;
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                if (c.get(i + j * N) != expected(a, i, j, seed % (N - 1)))
                    bad++;
        judge(bad == 0, kind + ": " + bad + " elements wrong in round " + seed);
    }

    static DoubleBuffer of(ByteBuffer b) { return b.order(ByteOrder.nativeOrder()).asDoubleBuffer(); }

    static void products(int first) {
        ByteBuffer a = ByteBuffer.allocateDirect(8 * N * N), b = ByteBuffer.allocateDirect(8 * N * N);
        ByteBuffer c = ByteBuffer.allocateDirect(8 * N * N);
        double[] x = new double[N * N], y = new double[N * N], z = new double[N * N];
        for (int seed = first; seed < first + ROUNDS; seed++) {
            fill(of(a), of(b), seed);
            direct(N, a, b, c);
            direct(N, a, b, c);
            check(of(a), of(c), seed, "direct buffers");
            of(a).put(5, 77);
            direct(N, a, b, c);
            check(of(a), of(c), seed, "direct buffers, written");
            fill(DoubleBuffer.wrap(x), DoubleBuffer.wrap(y), seed);
            copied(N, x, y, z);
            check(DoubleBuffer.wrap(x), DoubleBuffer.wrap(z), seed, "copied arrays");
            x[seed] = -1;
            critical(N, x, y, z);
            check(DoubleBuffer.wrap(x), DoubleBuffer.wrap(z), seed, "arrays of the heap");
        }
    }

    static int length(int[] array) { return array.length; }

    /** The null check is a load that faults once this is compiled. */
    static void meetNulls() {
        int[] some = new int[3];
        for (int i = 0; i < 200000 || !over; i++)
            try {
                judge(length(i % 100 == 99 ? null : some) == 3, "a length");
            } catch (NullPointerException e) {
                nulls++;
            }
    }

    static int deeper(int n) { return n < 0 ? 0 : 1 + deeper(n + 1); }

    static void overflow() {
        while (overflows < 20 || !over)
            try {
                deeper(0);
            } catch (StackOverflowError e) {
                overflows++;
            }
    }

    static void collect() {
        for (int i = 0; !over; i++)
            garbage = new byte[1 << 20];
    }

    public static void main(String[] args) throws Exception {
        System.load(System.getProperty("jvm.library"));
        products(0);
        if (args.length > 0)
            crash();
        Thread[] others = {new Thread(Jvm::meetNulls), new Thread(Jvm::overflow), new Thread(Jvm::collect)};
        Thread[] workers = {new Thread(() -> products(100)), new Thread(() -> products(1000))};
        for (Thread t : others)
            t.start();
        for (Thread t : workers)
            t.start();
        for (Thread t : workers)
            t.join();
        over = true;
        for (Thread t : others)
            t.join();
        System.out.println(nulls + " null pointers, " + overflows + " overflows of the stack");
        System.out.println(wrong == 0 && nulls >= 2000 && overflows >= 20 ? "ok" : "wrong: " + wrong);
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
