// A digest as a Workflow of Microsoft Teams takes it ("When a Teams webhook request is received"): a message with one Adaptive Card; and
// what the answers say. docs/protocol.md WHK-30.
//
// Sentences stand in text runs, in which a card has no Markdown; a TextBlock would have some.

import type { NoticeDigest, NoticeGroup, NoticeLine } from './notice-digest.ts'

const CARD_TYPE = 'application/vnd.microsoft.card.adaptive'
const CARD_SCHEMA = 'http://adaptivecards.io/schemas/adaptive-card.json'
/** The newest that Teams shows in channels on all its clients. */
const CARD_VERSION = '1.4'
/** Teams takes 28 KB for all of a message. */
const MESSAGE_BYTES_MAX = 24 * 1024
/** Teams shows no more buttons beside each other. */
const ACTIONS_MAX = 1

export function teamsMessage(digest: NoticeDigest): string {
  const whole = render(digest)
  if (Buffer.byteLength(whole) <= MESSAGE_BYTES_MAX) return whole
  const groups = digest.groups.map((group) => ({ ...group, lines: group.lines.slice(0, 1) }))
  return render({ ...digest, groups })
}

function render({ title, groups, notes }: NoticeDigest): string {
  const links = groups.flatMap(({ lines }) => lines.flatMap(({ link }) => link ?? []))
  const card = {
    $schema: CARD_SCHEMA,
    type: 'AdaptiveCard',
    version: CARD_VERSION,
    msteams: { width: 'Full' },
    body: [
      richText([run(title, { weight: 'Bolder', size: 'Medium' })]),
      ...groups.flatMap(blocksOf),
      richText([run(notes.join(' – '), { isSubtle: true, size: 'Small' })]),
    ],
    actions: links
      .slice(0, ACTIONS_MAX)
      .map(({ url, label }) => ({ type: 'Action.OpenUrl', title: label, url })),
  }
  return JSON.stringify({
    type: 'message',
    attachments: [{ contentType: CARD_TYPE, contentUrl: null, content: card }],
  })
}

function blocksOf({ title, lines, more }: NoticeGroup): object[] {
  return [
    richText([run(title, { weight: 'Bolder' })]),
    ...lines.map((line) => richText(runsOf(line))),
    ...(more === undefined ? [] : [richText([run(more, { isSubtle: true })])]),
  ]
}

function runsOf({ sentence, link }: NoticeLine): object[] {
  if (link === undefined) return [run(sentence)]
  const selectAction = { type: 'Action.OpenUrl', url: link.url }
  return [run(`${sentence} `), run(link.label, { underline: true, selectAction })]
}

function richText(inlines: readonly object[]): object {
  return { type: 'RichTextBlock', inlines }
}

function run(text: string, style: object = {}): object {
  return { type: 'TextRun', text, ...style }
}

/** The flow was removed or turned off. */
const GONE = new Set(['WorkflowNotFound', 'WorkflowTriggerNotFound', 'WorkflowTriggerIsNotEnabled'])
const REFUSED = new Set(['InvalidRequestContent', 'TriggerInputSchemaMismatch'])

/** The code that says why, and what follows from it; undefined for any other answer. */
export function readTeamsAnswer(
  status: number,
  body: string | undefined,
): { readonly kind: 'gone' | 'refused'; readonly reason: string } | undefined {
  if (status < 400 || status >= 500) return undefined
  const reason = codeIn(body ?? '')
  if (GONE.has(reason)) return { kind: 'gone', reason }
  return REFUSED.has(reason) ? { kind: 'refused', reason } : undefined
}

function codeIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly code?: unknown } | null }
    return typeof error?.code === 'string' ? error.code : ''
  } catch {
    return ''
  }
}
