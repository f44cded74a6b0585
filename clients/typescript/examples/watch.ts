/** Everything that happens to this agent's asks, until the one made here is over. */

import { type Ask, Countersign } from "@countersign/client";

const countersign = new Countersign();
let asked: PromiseLike<Ask> | undefined;

// Asked once the stream is connected, so that nothing is missed; a reconnection must not ask again.
const onReady = (): void => void (asked ??= countersign.converse("What is the password of the guest network?"));

for await (const event of countersign.events({ onReady })) {
  if (event.event === "reset" || event.ask.id !== (await asked)?.id) continue;
  console.log(event.event);
  if (event.ask.result) break;
}
//=> asked
//=> answered
