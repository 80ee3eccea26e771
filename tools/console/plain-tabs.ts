// Clients that ask what tabs of the console ask: each reads the stream of changes, and when something rings, asks again what its screen
// shows, each question at most as often as the page does. A process of its own, spoken to in lines of JSON.

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Agent, request as askHub } from 'undici'
import { createEventParser } from '../../src/console/api/event-stream.ts'
import type { ChangeMessage } from '../../src/protocol/admin/changes-route.ts'
import {
  type AskedRequest,
  NEWEST,
  type PlainTab,
  type TabsCommand,
  type TabsCounts,
} from './tab-commands.ts'

/** As browsers have it for one origin. */
const CONNECTIONS = 6
const KEPT_MS = 60_000
/** Between one that is opened and the next: nobody opens fifty at once. */
const APART_MS = 100
const AGAIN_MS = 500
const CHANGES_PATH = '/v1/admin/changes'
const RINGS = new Set(['hello', 'entry', 'many', 'presence', 'reset'])

let leaving = new AbortController()
const NONE: TabsCounts = { rings: 0, answers: 0, refused: 0, failed: 0 }
let counts = { ...NONE }

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await obey(JSON.parse(line) as TabsCommand).catch((error: unknown) => ({
    error: String(error),
  }))
  if (!process.stdout.write(`${JSON.stringify(answer)}\n`)) await once(process.stdout, 'drain')
}
process.exit()

async function obey(command: TabsCommand): Promise<object> {
  switch (command.do) {
    case 'sign-in':
      return { headers: await signIn(command.url, command.code) }
    case 'open':
      leaving = new AbortController()
      counts = { ...NONE }
      for (const tab of command.tabs) {
        openTab(command.url, tab, leaving.signal)
        await new Promise((resume) => setTimeout(resume, APART_MS))
      }
      return {}
    default:
      leaving.abort()
      return counts
  }
}

function connect(): Agent {
  return new Agent({
    connect: { rejectUnauthorized: false },
    connections: CONNECTIONS,
    keepAliveTimeout: KEPT_MS,
  })
}

async function signIn(url: string, code: string): Promise<PlainTab['headers']> {
  const dispatcher = connect()
  const reply = await askHub(`${url}/v1/admin/sessions`, {
    method: 'POST',
    dispatcher,
    headers: {
      authorization: `Bearer ${code}`,
      'content-type': 'application/json',
      'sec-fetch-site': 'same-origin',
    },
    body: '{}',
  })
  const { secret } = (await reply.body.json()) as { readonly secret: string }
  const cookie = String(reply.headers['set-cookie']).split(';', 1)[0] ?? ''
  await dispatcher.destroy()
  return { cookie, 'cartorio-session': secret, 'sec-fetch-site': 'same-origin' }
}

function openTab(url: string, { headers, asks }: PlainTab, signal: AbortSignal): void {
  const dispatcher = connect()
  signal.addEventListener('abort', () => void dispatcher.destroy())
  const count = (): void => {
    if (!signal.aborted) counts.failed += 1
  }
  const ask = async ({ method, path, body }: AskedRequest): Promise<void> => {
    const type = body === null ? {} : { 'content-type': 'application/json' }
    const reply = await askHub(`${url}${path.replace(NEWEST, String(seq))}`, {
      method: method as 'GET',
      headers: { ...headers, ...type },
      body,
      dispatcher,
      signal,
    })
    await reply.body.dump()
    counts.answers += 1
    if (reply.statusCode !== 200) counts.refused += 1
  }
  const questions = asks.map((asked) => ({ asked, isWaiting: false, atMs: 0 }))
  let seq = 0
  const ring = (newest: number): void => {
    seq = Math.max(seq, newest)
    counts.rings += 1
    for (const question of questions) {
      if (question.isWaiting) continue
      question.isWaiting = true
      // As often as the page was seen to ask, which does not ask at the same moment as others.
      const betweenMs = question.asked.everyMs * (0.75 + Math.random() / 2)
      setTimeout(
        () => {
          question.atMs = Date.now()
          ask(question.asked)
            .catch(count)
            .finally(() => {
              question.isWaiting = false
            })
        },
        Math.max(0, question.atMs + betweenMs - Date.now()),
      )
    }
  }
  const follow = (): void => {
    followChanges(url, { headers, dispatcher, signal, ring }).catch(() => {
      count()
      if (!signal.aborted) setTimeout(follow, AGAIN_MS)
    })
  }
  follow()
}

async function followChanges(
  url: string,
  {
    ring,
    ...options
  }: {
    readonly headers: PlainTab['headers']
    readonly dispatcher: Agent
    readonly signal: AbortSignal
    readonly ring: (newest: number) => void
  },
): Promise<void> {
  const { statusCode, body } = await askHub(`${url}${CHANGES_PATH}`, options)
  if (statusCode !== 200) counts.refused += 1
  const parse = createEventParser()
  for await (const piece of body) {
    const rings = parse(String(piece)).filter(({ event }) => RINGS.has(event))
    if (rings.length === 0) continue
    // What an agent's coming and going says has no number.
    ring(
      Math.max(
        ...rings.map(({ data }) => (JSON.parse(data) as Partial<ChangeMessage<'entry'>>).seq ?? 0),
      ),
    )
  }
}
