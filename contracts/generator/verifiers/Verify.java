import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Verify {
    static boolean isGenuine(String key, String timestamp, String signature, byte[] body, long nowMs) throws Exception {
        if (!timestamp.matches("[0-9]{1,15}") || Math.abs(nowMs - Long.parseLong(timestamp)) > 300_000) return false;
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key.getBytes(), "HmacSHA256"));
        mac.update((timestamp + ".").getBytes());
        var expected = HexFormat.of().formatHex(mac.doFinal(body));
        return MessageDigest.isEqual(expected.getBytes(), signature.getBytes());
    }
}
