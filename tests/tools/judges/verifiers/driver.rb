require_relative "verify"

key, now_ms = $stdin.readline(chomp: true).split("\t")
$stdin.each_line(chomp: true) do |line|
  timestamp, signature, body = line.split("\t", -1)
  puts genuine?(key, timestamp, signature, body.unpack1("m0"), now_ms.to_i)
end
