import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "#contract/app/audit.ts";
import { formatIn } from "../format.ts";
import { pathsOf } from "../paths.ts";
import { describeDetail, describeTarget, toTargetLink } from "./audit-words.ts";

const ORGANIZATION = { id: "org_1", name: "Lindenhof Dental" };
const format = formatIn("Europe/Berlin");

function toEntry(target: string | null, detail: AuditEntry["detail"] = {}): AuditEntry {
  const actor = { userId: null, email: null, name: null };
  return { id: "1", at: "2026-11-01T12:00:00.000Z", actor, action: "widget.changed", target, detail };
}

test("a target is shown by the name it had then plus its id, or by its id alone", () => {
  const table: [entry: AuditEntry, name: string, id: string | null][] = [
    [toEntry("w_1", { name: "Website" }), "Website", "w_1"],
    [toEntry("w_1"), "w_1", null],
    [toEntry("ada@example.com", { role: "admin" }), "ada@example.com", null],
    [toEntry("org_1", { name: "Lindenhof" }), "Lindenhof", "org_1"],
    [toEntry("org_1"), "Lindenhof Dental", "org_1"],
    [toEntry(null), "–", null],
  ];
  for (const [entry, name, id] of table) assert.deepEqual(describeTarget(entry, ORGANIZATION), { name, id });
});

test("details are written as one line", () => {
  const table: [detail: AuditEntry["detail"], line: string][] = [
    [{ name: "Website" }, ""],
    [{ role: "admin" }, "Role: admin"],
    [{ from: "member", to: "admin" }, "Member → admin"],
    [
      { name: "New", changed: "name, collectData", formerName: "Old", collectData: "off → on" },
      "Formerly Old; store bookings: off → on",
    ],
    [{ name: "Site", changed: "name, options" }, "Changed: name, options"],
    [{ name: "CRM", changed: "url" }, "Changed: URL"],
    [{ name: "CRM", changed: "url, eventTypes, reportsExpiry" }, "Changed: URL, events"],
    [{ name: "CRM", reason: "gone" }, "The receiver says it is permanently gone"],
    [{ name: "SVC-234567", endpoint: "CRM" }, "Endpoint: CRM"],
    [{ deliveries: 1 }, "1 delivery"],
    [{ isSearch: "no" }, ""],
    [
      { name: "For the agency", report: "days=30&compare=previous&match=weekday&channel=Paid+Search&widget=w_1" },
      "Last 30 days · Channel is Paid Search · Widget is Website",
    ],
  ];
  const words = { format, widgetNames: new Map([["w_1", "Website"]]) };
  for (const [detail, line] of table) assert.equal(describeDetail(detail, words), line);
});

test("a target leads to its screen while it is there", () => {
  const paths = pathsOf("org_1");
  const link = (action: string, target: string | null) => toTargetLink({ action, target }, paths);
  assert.equal(link("widget.changed", "w_1"), paths.widget("w_1"));
  assert.equal(link("endpoint.added", "we_1"), paths.endpoint("we_1"));
  assert.equal(link("member.role_changed", "ada@example.com"), paths.members);
  assert.equal(link("endpoint.removed", "we_1"), null);
  assert.equal(link("booking.deleted", "SVC-234567"), null);
  assert.equal(link("audit.exported", null), null);
});
