import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Base64;

class Driver {
    public static void main(String[] none) throws Exception {
        var input = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        var head = input.readLine().split("\t");
        for (var line = input.readLine(); line != null; line = input.readLine()) {
            var parts = line.split("\t", -1);
            var body = Base64.getDecoder().decode(parts[2]);
            System.out.println(Verify.isGenuine(head[0], parts[0], parts[1], body, Long.parseLong(head[1])));
        }
    }
}
