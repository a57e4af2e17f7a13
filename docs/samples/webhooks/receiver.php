<?php
// A webhook receiver for PHP 8. Put it on a web server, at the endpoint's URL. To try it out:
//   WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:8080 receiver.php

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;

/** True if Bookflow signed this request. $rawBody must be the bytes as received, not JSON parsed and serialised again. */
function is_authentic(string $header, string $rawBody, string $secret): bool
{
    $timestamp = '';
    $given = [];
    foreach (explode(',', $header) as $part) {
        $part = trim($part);
        if (str_starts_with($part, 't=')) {
            $timestamp = substr($part, 2);
        } elseif (str_starts_with($part, 'v1=')) {
            $given[] = substr($part, 3);
        }
    }
    if (preg_match('/^[0-9]{1,12}$/D', $timestamp) !== 1 || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $expected = hash_hmac('sha256', $timestamp . '.' . $rawBody, $secret);
    // For 24 hours after a rotation, requests carry one signature per secret. Either is enough.
    foreach ($given as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}

$secret = getenv('WEBHOOK_SECRET') ?: '';
if (!str_starts_with($secret, 'whsec_')) {
    http_response_code(500);
    exit('Set WEBHOOK_SECRET to the endpoint\'s signing secret, whsec_ included');
}

$rawBody = file_get_contents('php://input');
if (!is_authentic($_SERVER['HTTP_SERVICE_SIGNATURE'] ?? '', $rawBody, $secret)) {
    http_response_code(400);
    exit('bad signature');
}

$event = json_decode($rawBody, true, 64, JSON_THROW_ON_ERROR);
// An event may arrive again, so an empty file marks it as seen. In production, store the event in a table with a unique
// column and process it later: Bookflow waits 15 seconds for a response.
$mark = sys_get_temp_dir() . '/bookflow-' . basename($event['id']);
if (@fopen($mark, 'x') === false) {
    // If the mark could not be written, ask Bookflow to send the event again.
    http_response_code(file_exists($mark) ? 204 : 500);
    exit;
}
error_log($event['id'] . ' ' . ($event['data']['booking']['reference'] ?? ''));
http_response_code(204);
