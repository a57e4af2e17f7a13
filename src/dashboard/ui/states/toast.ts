import { notifications } from "@mantine/notifications";

const SHOWN_MS = 5_000;
/** Failures take longer to read. */
const FAILURE_SHOWN_MS = 10_000;

export function toastDone(message: string): void {
  notifications.show({ message, color: "green", autoClose: SHOWN_MS });
}

export function toastFailure(message: string): void {
  notifications.show({ title: "That didn’t work", message, color: "red", autoClose: FAILURE_SHOWN_MS });
}
