// Instead of a list without rows: what is not there, and when that was last looked at.
import { formatTime, relative } from "../lib/time";
import { StateIcon } from "./StateMark";

interface Props {
  text: string;
  /** In UNIX seconds; undefined before the first check. */
  checkedAt: number | undefined;
}

export function Nothing({ text, checkedAt }: Props) {
  return (
    <p class="empty nothing">
      <span>
        <StateIcon state="ok" /> {text}{" "}
        {checkedAt === undefined ? "No backend was checked yet." : <span title={formatTime(checkedAt)}>Last checked {relative(checkedAt)}.</span>}
      </span>
    </p>
  );
}
