// Server-sent events out of pieces of text: fetch can send the session's header, EventSource cannot.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** A hub that never ends a message is not waited for. */
const MESSAGE_CHARACTERS_MAX = 64 * 1024

/** Gives each message that the piece completes; a comment shows that the other side is there. */
export function createEventParser(): (piece: string) => readonly ServerEvent[] {
  let rest = ''
  return (piece) => {
    rest += piece
    const messages = rest.split('\n\n')
    rest = messages.pop() ?? ''
    if (rest.length > MESSAGE_CHARACTERS_MAX) throw new Error('a message of the stream has no end')
    return messages.map(parseMessage).filter(({ data }) => data !== '')
  }
}

function parseMessage(text: string): ServerEvent {
  let event = 'message'
  const data: string[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice('event: '.length)
    if (line.startsWith('data: ')) data.push(line.slice('data: '.length))
  }
  return { event, data: data.join('\n') }
}
