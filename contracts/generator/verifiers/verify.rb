require "openssl"

def genuine?(key, timestamp, signature, body, now_ms)
  return false unless timestamp.match?(/\A[0-9]{1,15}\z/) && (now_ms - timestamp.to_i).abs <= 300_000

  expected = OpenSSL::HMAC.hexdigest("SHA256", key, "#{timestamp}.".b + body)
  OpenSSL.secure_compare(expected, signature)
end
