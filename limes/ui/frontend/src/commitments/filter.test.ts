import { expect, it } from "vitest";
import type { Commitment } from "../api/schema";
import { filtered, occurring, resourceOf } from "./rules";

const one = (id: number, changes: Partial<Commitment> = {}): Commitment =>
  ({
    id,
    uuid: `uuid-${id}`,
    service_type: "compute",
    resource_name: "cores",
    availability_zone: "west-1",
    duration: "1 year",
    status: "confirmed",
    creator_name: "bert@acme",
    ...changes,
  }) as Commitment;

const all = [one(1), one(2, { resource_name: "ram" }), one(3, { availability_zone: "west-2", transferable: true }), one(4, { status: "planned" })];
const ids = (filter: Partial<Parameters<typeof filtered>[1]>): number[] =>
  filtered(all, { resource: "", zone: "", status: "", text: "", ...filter }).map((found) => found.id);

it.each([
  [{}, [1, 2, 3, 4]],
  [{ resource: "compute/ram" }, [2]],
  [{ zone: "west-2" }, [3]],
  [{ status: "planned" }, [4]],
  [{ status: "offered" }, [3]],
  [{ text: " UUID-2" }, [2]],
  [{ text: "bert", status: "confirmed", zone: "west-1" }, [1, 2]],
  [{ text: "nobody" }, []],
])("%j", (filter, found) => expect(ids(filter)).toEqual(found));

it("knows which values occur", () => expect(occurring(all, resourceOf)).toEqual(["compute/cores", "compute/ram"]));
