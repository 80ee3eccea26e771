// Server-sent events (WHATWG HTML, 9.2.6) as far as the hub uses them; lines and messages over a bound are an error.

export interface StreamMessage {
  readonly event: string
  /** The last id that the stream named, with this message or before it. */
  readonly id: string | undefined
  /** Its lines, with line breaks between them. */
  readonly data: string
}

export const STREAM_LINE_CHARACTERS_MAX = 4096
const MESSAGE_CHARACTERS_MAX = 16 * 1024

/** Text comes in pieces of any size; each answers the messages that it completes. */
export class EventStreamParser {
  #rest = ''
  #messageCharacters = 0
  #event = ''
  #data: string[] = []
  #id: string | undefined

  push(text: string): StreamMessage[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/)
    this.#rest = lines.pop() ?? ''
    const messages: StreamMessage[] = []
    for (const line of lines) {
      requireBound(line.length, STREAM_LINE_CHARACTERS_MAX)
      if (line !== '') this.#take(line)
      else {
        const message = this.#finish()
        if (message !== undefined) messages.push(message)
      }
    }
    requireBound(this.#rest.length, STREAM_LINE_CHARACTERS_MAX)
    return messages
  }

  #take(line: string): void {
    this.#messageCharacters += line.length
    requireBound(this.#messageCharacters, MESSAGE_CHARACTERS_MAX)
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
    // What goes into a header may hold nothing that ends one.
    else if (field === 'id' && /^[\x21-\x7e]{0,256}$/.test(value)) this.#id = value
  }

  #finish(): StreamMessage | undefined {
    const event = this.#event === '' ? 'message' : this.#event
    const data = this.#data.join('\n')
    const message = this.#data.length > 0 ? { event, id: this.#id, data } : undefined
    this.#event = ''
    this.#data = []
    this.#messageCharacters = 0
    return message
  }
}

function requireBound(characters: number, max: number): void {
  if (characters > max) throw new Error(`the stream sent more than ${max} characters in one piece`)
}
