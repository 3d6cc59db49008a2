<?php
require __DIR__ . '/verify.php';

$lines = file('php://stdin', FILE_IGNORE_NEW_LINES);
[$key, $now_ms] = explode("\t", array_shift($lines));
foreach ($lines as $line) {
    [$timestamp, $signature, $body] = explode("\t", $line);
    echo is_genuine($key, $timestamp, $signature, base64_decode($body), (int) $now_ms) ? "true\n" : "false\n";
}
