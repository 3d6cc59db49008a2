<?php
function is_genuine(string $key, string $timestamp, string $signature, string $body, int $now_ms): bool
{
    if (!preg_match('/^[0-9]{1,15}$/D', $timestamp) || abs($now_ms - (int) $timestamp) > 300_000) {
        return false;
    }
    return hash_equals(hash_hmac('sha256', $timestamp . '.' . $body, $key), $signature);
}
