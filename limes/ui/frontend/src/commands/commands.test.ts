import { describe, expect, it } from "vitest";
import type { Wanted } from "../api/commitments";
import type { Bound } from "../api/growth";
import type { Step } from "../api/requests";
import type { Commitment } from "../api/schema";
import { type Change, clientCommand, curlCommand } from "./change";
import * as commitments from "./commitments";
import { boundingGrowth } from "./growth";
import { settingLabels } from "./labels";
import { removingWebhook, settingThreshold, settingWebhook, wantingMails } from "./notifications";
import { refreshing, switchingBursting } from "./project";
import { settingQuotas } from "./quota";
import { asking, stepping } from "./requests";
import { quoted } from "./shell";

const AT = { domain: "d1", project: "p1" };
const ram = { id: 7, amount: 20480, unit: "MiB" } as Commitment;
const oneLine = (text: string): string => text.replaceAll(" \\\n ", "");
const client = (change: Change): string => oneLine(clientCommand(change)).replace("openstack limes ", "");
const curl = (change: Change): string => oneLine(curlCommand(change, "https://limes"));

it.each([
  ["compute/cores=+10%", "compute/cores=+10%"],
  ["1 year", "'1 year'"],
  ["it's", "'it'\\''s'"],
  ["$(reboot)", "'$(reboot)'"],
  ["", "''"],
])("quotes %s as %s", (word, text) => expect(quoted(word)).toBe(text));

describe("the command of the client", () => {
  const wanted: Wanted = { service_type: "compute", resource_name: "ram", availability_zone: "az-one", amount: 1536, duration: "1 year" };

  it.each([
    [
      commitments.buying(AT, { ...wanted, confirm_by: 1_800_000_000 }, "MiB"),
      "commitment create compute/ram 1536MiB --az az-one --duration '1 year' --confirm-by 2027-01-15T08:00:00Z",
    ],
    [
      commitments.buying(AT, { ...wanted, auto_renew: true }, "MiB"),
      "commitment create compute/ram 1536MiB --az az-one --duration '1 year' --auto-renew",
    ],
    [commitments.renewing(AT, ram), "commitment renew 7"],
    [commitments.switchingAutoRenewal(AT, ram, true), "commitment set 7 --auto-renew"],
    [commitments.switchingAutoRenewal(AT, ram, false), "commitment set 7 --no-auto-renew"],
    [commitments.changingDuration(AT, ram, "2 years"), "commitment set 7 --duration '2 years'"],
    [commitments.merging(AT, [ram, { ...ram, id: 9 }]), "commitment merge 7 9"],
    [
      commitments.converting(AT, ram, { target_service: "compute", target_resource: "cores", source_amount: 4096, target_amount: 1 }),
      "commitment convert 7 --to compute/cores --amount 4GiB",
    ],
    [commitments.deleting(AT, ram), "commitment delete 7 --yes"],
    [commitments.offering(AT, ram, 1024, "public"), "commitment transfer start 7 --amount 1GiB --public"],
    [commitments.withdrawing(AT, ram), "commitment transfer cancel 7"],
    [commitments.accepting(AT, ram), "commitment transfer accept"],
    [commitments.acceptingOffered(AT, { ...ram, transfer_token: "public" }), "commitment transfer accept 7"],
  ])("%#", (change, command) => expect(client(change)).toBe(`${command} --project p1 --domain d1`));

  it("for bursting", () => {
    expect(client(switchingBursting(AT, true))).toBe("project set p1 --domain d1 --enable-bursting --yes");
    expect(client(switchingBursting(AT, false))).toBe("project set p1 --domain d1 --disable-bursting --yes");
  });

  it.each([
    [settingThreshold(AT, 70), "threshold set p1 --domain d1 --percent 70"],
    [settingThreshold(AT, null), "threshold set p1 --domain d1 --clear"],
    [settingWebhook(AT, "https://chat/x y"), "webhook set p1 --domain d1 --url 'https://chat/x y'"],
    [removingWebhook(AT), "webhook delete p1 --domain d1"],
    [wantingMails("quota_used", false), "mail unsubscribe quota_used"],
    [wantingMails(undefined, true), "mail subscribe --all"],
  ])("of what one is told: %#", (change, command) => expect(client(change)).toBe(command));

  it("for new figures", () => expect(client(refreshing(AT))).toBe("project sync p1 --domain d1"));

  it("for labels", () => {
    const some = { env: "prod", owner: "web team", empty: "" };
    expect(client(settingLabels(AT, some))).toBe("project label set p1 --domain d1 --label env=prod --label 'owner=web team' --label empty=");
    expect(client(settingLabels(AT, {}))).toBe("project label set p1 --domain d1 --clear");
    expect(curl(settingLabels(AT, { env: "prod" }))).toContain(`/v1/domains/d1/projects/p1/labels -H "X-Auth-Token: $OS_TOKEN"`);
  });

  it("for quota that grows by itself", () => {
    const ref = { service: "compute", name: "ram" };
    const told = (at: { domain: string }, bound: Bound): string => client(boundingGrowth(at, ref, bound, "MiB"));
    expect(told(AT, { max_quota: 2048 })).toBe("project set p1 --domain d1 --max-quota compute/ram=2GiB --yes");
    expect(told({ domain: "d1" }, { max_quota: null })).toBe("domain set d1 --max-quota compute/ram=none --yes");
    expect(told(AT, { forbid_autogrowth: true })).toBe("project set p1 --domain d1 --forbid-autogrowth compute/ram --yes");
    expect(told(AT, { forbid_autogrowth: false })).toBe("project set p1 --domain d1 --allow-autogrowth compute/ram --yes");
  });

  it("for quotas", () => {
    const edits = [
      { service: "compute", name: "cores", amount: 44 },
      { service: "compute", name: "ram", amount: 0 },
    ];
    const unitOf = ({ name }: { name: string }): string => (name === "ram" ? "MiB" : "");
    const sets = "--set compute/cores=44 --set compute/ram=0MiB --yes";
    expect(client(settingQuotas(AT, edits, unitOf))).toBe(`project set p1 --domain d1 ${sets}`);
    expect(client(settingQuotas({ domain: "d1" }, edits, unitOf))).toBe(`domain set d1 ${sets}`);
    expect(client(settingQuotas(AT, edits.slice(0, 1), unitOf, 1_800_000_000))).toBe(
      "project set p1 --domain d1 --set compute/cores=44 --until 2027-01-15T08:00:00Z --yes",
    );
  });

  it("for requests for more quota", () => {
    const edits = [{ service: "compute", name: "ram", amount: 2048 }];
    const unitOf = (): string => "MiB";
    expect(client(asking(AT, edits, "it's new", unitOf))).toBe("request create --project p1 --domain d1 --set compute/ram=2GiB --reason 'it'\\''s new'");
    expect(client(asking({ domain: "d1" }, edits, "new", unitOf))).toBe("request create --of-domain --domain d1 --set compute/ram=2GiB --reason new");
    const told = (step: Step): string => client(stepping(AT, 7, step, unitOf));
    expect(told({ verb: "approve", comment: "half", lowered: edits })).toBe("request approve 7 --set compute/ram=2GiB --comment half");
    expect(told({ verb: "approve", comment: "", lowered: [] })).toBe("request approve 7");
    expect(told({ verb: "reject", reason: "no" })).toBe("request reject 7 --reason no");
    expect(told({ verb: "pass-on", comment: "" })).toBe("request pass-on 7");
    expect(told({ verb: "comments", comment: "what for?" })).toBe("request comment 7 'what for?'");
  });
});

describe("the command of curl", () => {
  it("is what the page sends, with the token left out", () => {
    const body = '{"project":{"services":[{"type":"compute","resources":[{"name":"cores","quota":44}]}]}}';
    expect(curl(settingQuotas(AT, [{ service: "compute", name: "cores", amount: 44 }], () => ""))).toBe(
      `curl --fail-with-body -X PUT https://limes/v1/domains/d1/projects/p1 -H "X-Auth-Token: $OS_TOKEN" -H 'Content-Type: application/json' -d '${body}'`,
    );
    expect(curl(commitments.deleting(AT, ram))).toBe(
      'curl --fail-with-body -X DELETE https://limes/v1/domains/d1/projects/p1/commitments/7 -H "X-Auth-Token: $OS_TOKEN"',
    );
  });

  it("takes transfer tokens from the environment, too", () => {
    const offered = { ...ram, transfer_token: "secret" };
    expect(curl(commitments.accepting(AT, offered))).toContain('-H "Transfer-Token: $OS_LIMES_TRANSFER_TOKEN"');
    expect(curl(commitments.acceptingOffered(AT, offered))).toContain("-H 'Transfer-Token: secret'");
    expect(clientCommand(commitments.accepting(AT, offered)) + curl(commitments.accepting(AT, offered))).not.toContain("secret");
  });
});
