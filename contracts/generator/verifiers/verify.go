import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

func isGenuine(key, timestamp, signature string, body []byte, nowMs int64) bool {
	if sent, err := strconv.ParseInt(timestamp, 10, 64); err != nil || sent < nowMs-300_000 || sent > nowMs+300_000 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(append([]byte(timestamp+"."), body...))
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(signature))
}
