// What was said and decided about a request, the oldest first. Texts of people are shown as they are.
import type { QuotaRequestWithConversation } from "../api/requests";
import { readable } from "../lib/messages";
import { formatTime, relative } from "../lib/time";
import { eventText } from "./words";

export function Conversation({ of: { conversation, reason } }: { of: QuotaRequestWithConversation }) {
  return (
    <ol class="conversation" aria-label="Conversation">
      {conversation.map((event, index) => {
        const text = event.kind === "opened" || event.kind === "proposed" ? reason : event.text;
        return (
          <li key={index} data-kind={event.kind}>
            <p>
              <strong>{event.author.name}</strong> {eventText(event.kind)} <span class="muted" title={formatTime(event.at)}>{relative(event.at)}</span>
            </p>
            {text && <p class="said">{event.author.type === "job" ? readable(text) : text}</p>}
          </li>
        );
      })}
    </ol>
  );
}
