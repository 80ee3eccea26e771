// A page of man(7): its head, and the sections that a page of any of the programs has.

import { definition, escapeRoff, paragraph, section, usage, verbatim } from './roff.ts'

export interface ManualPage {
  readonly name: string
  readonly section: 1 | 8
  /** After the name, in the list of all pages. */
  readonly summary: string
  readonly synopsis: readonly string[]
  /** As help texts are written. */
  readonly description: string
  readonly options: readonly Definition[]
  /** Sections of its own, in man(7), between options and environment. */
  readonly commands?: string
  readonly environment: readonly Definition[]
  readonly exitStatus: readonly Definition[]
  readonly files: readonly Definition[]
  /** As help texts are written. */
  readonly examples: string
  /** `svc(1)` */
  readonly seeAlso: readonly string[]
}

export interface Definition {
  readonly term: string
  readonly text: string
}

export interface Edition {
  readonly version: string
  readonly releasedAt: Date
}

export function renderManualPage(page: ManualPage, { version, releasedAt }: Edition): string {
  const date = releasedAt.toISOString().slice(0, 10)
  const define = (title: string, definitions: readonly Definition[]): string =>
    definitions.length === 0
      ? ''
      : section(title) + definitions.map(({ term, text }) => definition(term, text)).join('')
  const title = escapeRoff(page.name.toUpperCase())
  return [
    `.TH ${title} ${page.section} ${date} "Cartorio ${escapeRoff(version)}" Cartorio\n`,
    // Neither hyphens nor wide gaps: what stands here is typed.
    '.nh\n.ad l\n',
    `${section('NAME')}${escapeRoff(page.name)} \\- ${escapeRoff(page.summary)}\n`,
    section('SYNOPSIS') + page.synopsis.map(usage).join(''),
    section('DESCRIPTION') + renderHelpText(page.description),
    define('OPTIONS', page.options),
    page.commands ?? '',
    define('ENVIRONMENT', page.environment),
    define('EXIT STATUS', page.exitStatus),
    define('FILES', page.files),
    section('EXAMPLES') + renderHelpText(page.examples.replace(/^\s*Examples?:\n/, '')),
    section('SEE ALSO') + paragraph(page.seeAlso.map((other) => `\`${other}\``).join(', ')),
  ].join('')
}

/** The text of a help: indented lines are for a shell, all others are paragraphs. */
export function renderHelpText(text: string): string {
  const blocks: { isVerbatim: boolean; lines: string[] }[] = []
  let isGap = false
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      isGap = true
      continue
    }
    const isVerbatim = line.startsWith('  ')
    const last = blocks.at(-1)
    if (last?.isVerbatim === isVerbatim && (isVerbatim || !isGap)) {
      last.lines.push(...(isGap ? [''] : []), line)
    } else blocks.push({ isVerbatim, lines: [line] })
    isGap = false
  }
  return blocks
    .map(({ isVerbatim, lines }) =>
      isVerbatim ? verbatim(lines.map((line) => line.slice(2))) : paragraph(lines.join(' ')),
    )
    .join('')
}
