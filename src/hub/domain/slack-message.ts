// A digest as an incoming webhook of Slack takes it, and what Slack's answers say. docs/protocol.md WHK-29.
//
// Sentences stand in `plain_text`, which Slack shows as it is. Only links are markup, and their words are ours.

import type { NoticeDigest, NoticeGroup, NoticeLine } from './notice-digest.ts'

/** Slack refuses a section that is longer. */
const SECTION_CHARACTERS_MAX = 3000

export function slackMessage(digest: NoticeDigest): string {
  const { title, groups, notes } = digest
  const lines = groups.flatMap(linesOf)
  return JSON.stringify({
    // What notifications show, and clients that know no blocks.
    text: escape([title, ...lines, ...notes].join('\n')),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [...groups.flatMap(blocksOf), contextOf('plain_text', notes.join('\n'))],
  })
}

function linesOf({ title, lines, more }: NoticeGroup): string[] {
  return [title, ...lines.map(({ sentence }) => sentence), ...(more === undefined ? [] : [more])]
}

function blocksOf(group: NoticeGroup): object[] {
  const text = cut(linesOf(group).map(escape).join('\n'))
  const section = { type: 'section', text: { type: 'plain_text', text, emoji: false } }
  const links = group.lines.flatMap(({ link }) => (link === undefined ? [] : [slackLink(link)]))
  return links.length === 0 ? [section] : [section, contextOf('mrkdwn', links.join('  '))]
}

/** Not within an entity, nor within a character. */
function cut(escaped: string): string {
  if (escaped.length <= SECTION_CHARACTERS_MAX) return escaped
  return escaped.slice(0, SECTION_CHARACTERS_MAX).replace(/&[a-z]{0,3}$|[\ud800-\udbff]$/, '')
}

function contextOf(type: 'plain_text' | 'mrkdwn', text: string): object {
  // Verbatim: Slack makes no channel and no person of a word.
  const element =
    type === 'mrkdwn' ? { type, text, verbatim: true } : { type, text: escape(text), emoji: false }
  return { type: 'context', elements: [element] }
}

function slackLink({ url, label }: NonNullable<NoticeLine['link']>): string {
  return `<${escape(url)}|${escape(label)}>`
}

/** The three characters that mean something to Slack, in any of its texts. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Slack has no such webhook any more, or it may post nowhere. */
const GONE = new Set([
  'action_prohibited',
  'channel_is_archived',
  'channel_not_found',
  'invalid_token',
  'no_active_hooks',
  'no_service',
  'no_service_id',
  'no_team',
  'posting_to_general_channel_denied',
  'team_disabled',
  'user_not_found',
])
const REFUSED = new Set([
  'invalid_attachments',
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_payload',
  'no_text',
])

/** The word of Slack that says why, and what follows from it; undefined for any other answer. */
export function readSlackAnswer(
  status: number,
  body: string | undefined,
): { readonly kind: 'gone' | 'refused'; readonly reason: string } | undefined {
  if (status < 400 || status >= 500) return undefined
  const reason = (body ?? '').trim()
  if (GONE.has(reason)) return { kind: 'gone', reason }
  return REFUSED.has(reason) ? { kind: 'refused', reason } : undefined
}
