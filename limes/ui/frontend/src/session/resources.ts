// The services and resources that there are: names and units, which all pages need, without waiting for figures.
import { computed, signal } from "@preact/signals";
import { get } from "../api/client";
import type { QuotaSetShape, ResourcesAnswer } from "../api/schema";

type Listed = ResourcesAnswer["services"][number]["resources"][number];

export interface ResourceInfo {
  service: string;
  area: string;
  name: string;
  /** What people call it, on each level. */
  title: string;
  unit: string;
  hasQuota: boolean;
  /** Whether quota grows by itself, and nobody sets it. */
  grows: boolean;
  commitments: Listed["commitment_config"];
}

/** The preset sizes of quota. */
export const quotaSets = signal<readonly QuotaSetShape[]>([]);

/** In the order of reports; undefined until it is there. */
export const resources = signal<readonly ResourceInfo[] | undefined>(undefined);
const byKey = computed(() => new Map((resources.value ?? []).map((one) => [`${one.service}/${one.name}`, one])));

export async function learnResources(): Promise<void> {
  const { services, quota_sets: sets } = await get<ResourcesAnswer>("/v1/resources");
  quotaSets.value = sets;
  resources.value = services.flatMap(({ type, area, resources: listed }) =>
    listed.map((one) => ({
      service: type,
      area,
      name: one.name,
      title: one.display_name ?? one.name,
      unit: one.unit ?? "",
      hasQuota: one.quota_distribution_model !== undefined,
      grows: one.quota_distribution_model === "autogrow",
      commitments: one.commitment_config,
    })),
  );
}

/** Whether quota of a resource (`service/name`) grows by itself, and nobody sets it. */
export const growsByItself = (key: string): boolean => byKey.value.get(key)?.grows ?? false;

/** What people call a resource. */
export const resourceTitle = (service: string, name: string): string => byKey.value.get(`${service}/${name}`)?.title ?? name;
