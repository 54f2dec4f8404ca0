import { dismiss, notices } from "../lib/notices";

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((one) => (
        <div key={one.id} class={`notice ${one.tone}`}>
          <p>{one.text}</p>
          <button class="quiet" aria-label="Close this message" onClick={() => dismiss(one.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
