// A client of the hub's stream that knows nothing of the hub's code.

import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { waitUntil } from './processes.ts'
import type { Target } from './wire-client.ts'

export interface StreamClient {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** All that came, as text. */
  text(): string
  messages(): { readonly event: string; readonly id: string }[]
  /** The next message that was not answered yet. */
  next(): Promise<{ readonly event: string; readonly id: string }>
  hasEnded(): boolean
  close(): void
}

export async function openStream(
  target: Target,
  {
    lastEventId,
    path = '/v1/stream',
    headers = {},
  }: {
    readonly lastEventId?: string
    readonly path?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {},
): Promise<StreamClient> {
  const request = httpsRequest({
    ...target.tls,
    host: '127.0.0.1',
    port: target.port,
    path,
    agent: false,
    headers: { ...headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
  })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  let isOver = false
  let answered = 0
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
  })
  // A stream that is cut is one that ended.
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  response.once('close', () => {
    isOver = true
  })
  const messages = () =>
    [...text.matchAll(/^id: (.*)\nevent: (.*)\ndata: .*\n\n/gm)].map(([, id = '', event = '']) => ({
      event,
      id,
    }))
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    messages,
    next: async () => {
      const message = await waitUntil('a message of the stream', () => messages()[answered])
      answered += 1
      return message
    },
    hasEnded: () => isOver,
    close: () => request.destroy(),
  }
}
