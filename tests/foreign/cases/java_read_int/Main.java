/** Reads integers from a RandomAccessFile, which reads four single bytes for each, or from a buffer. */
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.RandomAccessFile;

public class Main {
    public static void main(String[] args) throws Exception {
        boolean cured = args.length > 0 && args[0].equals("twin");
        long sum = 0;
        if (cured) {
            DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream("input.bin")));
            for (int i = 0; i < 200000; i++) sum += in.readInt();
            in.close();
        } else {
            RandomAccessFile in = new RandomAccessFile("input.bin", "r");
            for (int i = 0; i < 200000; i++) sum += in.readInt();
            in.close();
        }
        System.out.println("sum " + sum);
    }
}
