// A digest as a mail: a subject of one line, and plain text. docs/protocol.md WHK-31.

import type { NoticeDigest, NoticeGroup, NoticeLine } from './notice-digest.ts'

export interface MailText {
  readonly subject: string
  readonly text: string
}

export function mailText({ title, groups, notes }: NoticeDigest): MailText {
  const parts = [...groups.map(textOf), notes.join('\n')]
  return { subject: title, text: `${parts.join('\n\n')}\n` }
}

function textOf({ title, lines, more }: NoticeGroup): string {
  const rest = more === undefined ? [] : [`  ${more}`]
  return [title, ...lines.flatMap(linesOf), ...rest].join('\n')
}

function linesOf({ sentence, link }: NoticeLine): string[] {
  return [`  ${sentence}`, ...(link === undefined ? [] : [`  ${link.url}`])]
}

/** What follows from an answer that SMTP calls permanent (RFC 5321, 4.2.1). */
export function readSmtpAnswer(status: number, isOfLogin: boolean): 'gone' | 'refused' | undefined {
  // 503 is of commands that came out of turn, and says nothing of the mail.
  if (status < 500 || status > 599 || status === 503) return undefined
  // Without a login the next mail fares no better, and some servers lock out who tries again.
  return isOfLogin ? 'gone' : 'refused'
}
