/** Server-sent events over a fetch stream, as the HTML standard says. */

/** One event. */
export interface SseEvent {
  /** `message` if the server gave no name. */
  readonly event: string;
  readonly data: string;
  /** The last id the stream has named so far; empty if none. */
  readonly id: string;
}

/** More than this without a line's end is no event stream. */
const LONGEST = 16 * 1024 * 1024;

/** Turns bytes, cut anywhere, into events. */
export class SseParser {
  /** How long the server wants clients to wait before they come back. */
  retryMs: number | undefined;

  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private started = false;
  private afterCr = false;
  private line = "";
  private event = "";
  private data: string[] = [];
  private size = 0;
  private id = "";

  /** Takes the next bytes and gives the events they complete. */
  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    let text = this.decoder.decode(bytes, { stream: true });
    if (text === "") return events;
    if (!this.started) {
      this.started = true;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    // A line feed right after a carriage return ends the same line, also across a cut.
    const endsInCr = text.endsWith("\r");
    if (this.afterCr && text.startsWith("\n")) text = text.slice(1);
    this.afterCr = endsInCr;
    const lines = text.split(/\r\n|\r|\n/);
    const rest = lines.pop() ?? "";
    for (const end of lines) {
      const event = this.take(this.line + end);
      this.line = "";
      if (event) events.push(event);
    }
    this.line += rest;
    if (this.line.length + this.size > LONGEST) throw new Error("an event of more than 16 MiB");
    return events;
  }

  private take(line: string): SseEvent | undefined {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const name = colon < 0 ? line : line.slice(0, colon);
    const rest = colon < 0 ? "" : line.slice(colon + 1);
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    switch (name) {
      case "event":
        this.event = value;
        break;
      case "data":
        this.data.push(value);
        this.size += value.length;
        break;
      case "id":
        if (!value.includes("\0")) this.id = value;
        break;
      case "retry":
        if (/^\d+$/.test(value)) this.retryMs = Number(value);
        break;
    }
    return undefined;
  }

  private dispatch(): SseEvent | undefined {
    const { event, data, id } = this;
    this.event = "";
    this.data = [];
    this.size = 0;
    return data.length === 0 ? undefined : { event: event === "" ? "message" : event, data: data.join("\n"), id };
  }
}
