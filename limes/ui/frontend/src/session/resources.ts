// The services and resources that there are: names and units, which all pages need, without waiting for figures.
import { computed, signal } from "@preact/signals";
import { get } from "../api/client";
import type { QuotaSetShape, ResourcesAnswer } from "../api/schema";
import { type Loaded, useLoad } from "../lib/load";
import { session } from "./store";

type Listed = ResourcesAnswer["services"][number]["resources"][number];

export interface ResourceInfo {
  service: string;
  area: string;
  name: string;
  /** What people call it, on each level. No two resources have the same. */
  title: string;
  unit: string;
  hasQuota: boolean;
  /** Whether quota grows by itself, and is not set by users. */
  grows: boolean;
  commitments: Listed["commitment_config"];
}

/** The preset sizes of quota. */
export const quotaSets = signal<readonly QuotaSetShape[]>([]);

/** In the order of reports; undefined until it is there. */
export const resources = signal<readonly ResourceInfo[] | undefined>(undefined);
const byKey = computed(() => new Map((resources.value ?? []).map((one) => [`${one.service}/${one.name}`, one])));

let asked: Promise<readonly ResourceInfo[]> | undefined;

/** Asks once, however many parts of a page want them at the same time. */
export function learnResources(): Promise<readonly ResourceInfo[]> {
  asked ??= get<ResourcesAnswer>("/v1/resources")
    .then((answer) => {
      quotaSets.value = answer.quota_sets;
      return (resources.value = infosOf(answer));
    })
    .finally(() => {
      asked = undefined;
    });
  return asked;
}

/** For pages that are nothing without them: asks again where that has failed. */
export function useResources(): Loaded<readonly ResourceInfo[]> {
  const token = session.value?.token;
  const loaded = useLoad(async () => resources.peek() ?? (await learnResources()), [token]);
  return { ...loaded, data: resources.value };
}

export function infosOf({ services }: Pick<ResourcesAnswer, "services">): ResourceInfo[] {
  const titles = services.flatMap((one) => one.resources.map((listed) => listed.display_name ?? listed.name));
  const isUnique = (title: string): boolean => titles.filter((one) => one === title).length === 1;
  return services.flatMap(({ type, area, resources: listed }) =>
    listed.map((one) => ({
      service: type,
      area,
      name: one.name,
      title: titleIn(type, one.display_name ?? one.name, isUnique),
      unit: one.unit ?? "",
      hasQuota: one.quota_distribution_model !== undefined,
      grows: one.quota_distribution_model === "autogrow",
      commitments: one.commitment_config,
    })),
  );
}

/** Whether quota of a resource (`service/name`) grows by itself, and is not set by users. */
export const growsByItself = (key: string): boolean => byKey.value.get(key)?.grows ?? false;

/** `capacity (object-store)`, where other services have a resource of this title, too. */
const titleIn = (service: string, title: string, isUnique: (title: string) => boolean): string => (isUnique(title) ? title : `${title} (${service})`);

/** What people call a resource; `otherwise` as long as that is not known. */
export const resourceTitle = (service: string, name: string, otherwise = name): string => byKey.value.get(`${service}/${name}`)?.title ?? otherwise;
