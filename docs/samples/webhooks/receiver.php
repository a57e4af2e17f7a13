<?php
// A webhook receiver for PHP 8. Put it on a web server, at the endpoint's URL. To try it out:
//   WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:8080 receiver.php

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;

// Every request is signed in two ways. Your receiver needs only one of these two functions. In both, $rawBody must be the bytes
// as received, not JSON parsed and serialised again.

/** True if Bookflow signed this request: Service-Signature. */
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
    return is_recent($timestamp) && is_one_of(hash_hmac('sha256', $timestamp . '.' . $rawBody, $secret), $given);
}

/** The same with the headers of Standard Webhooks, whose libraries do this for you. */
function is_authentic_standard(string $id, string $timestamp, string $header, string $rawBody, string $secret): bool
{
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = base64_encode(hash_hmac('sha256', $id . '.' . $timestamp . '.' . $rawBody, $key, true));
    $given = [];
    foreach (explode(' ', $header) as $part) {
        if (str_starts_with($part, 'v1,')) {
            $given[] = substr($part, 3);
        }
    }
    return is_recent($timestamp) && is_one_of($expected, $given);
}

function is_recent(string $timestamp): bool
{
    return preg_match('/^[0-9]{1,12}$/D', $timestamp) === 1 && abs(time() - (int) $timestamp) <= TOLERANCE_SECONDS;
}

/** While a rotation overlaps, requests carry one signature per secret. Either is enough. */
function is_one_of(string $expected, array $given): bool
{
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
$isSigned = isset($_SERVER['HTTP_SERVICE_SIGNATURE'])
    ? is_authentic($_SERVER['HTTP_SERVICE_SIGNATURE'], $rawBody, $secret)
    : is_authentic_standard(
        $_SERVER['HTTP_WEBHOOK_ID'] ?? '',
        $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '',
        $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '',
        $rawBody,
        $secret,
    );
if (!$isSigned) {
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
