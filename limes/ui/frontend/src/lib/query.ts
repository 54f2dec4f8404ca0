// Choices that belong to the address, so that a link leads to the same view.
import { useLocation } from "preact-iso";

export function useQuery(key: string, otherwise: string): [string, (value: string) => void] {
  const { query, path, route } = useLocation();
  const choose = (value: string): void => {
    const search = new URLSearchParams({ ...query, [key]: value });
    route(`${path}?${search}`, true);
  };
  return [query[key] ?? otherwise, choose];
}
