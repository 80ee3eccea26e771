// Units, read as systemd reads them: systemd.syntax(7).

import { SvcError } from '../../../src/platform/errors.ts'

export interface UnitFile {
  /** All values of a setting of [Service], in order. */
  all(setting: string): readonly string[]
  /** The last one counts, where a setting takes one value. */
  last(setting: string): string | undefined
}

export function parseUnitFile(text: string): UnitFile {
  const settings = new Map<string, string[]>()
  let section = ''
  for (const line of joinContinued(text)) {
    if (/^\s*([#;]|$)/.test(line)) continue
    const title = /^\[(.+)\]$/.exec(line)?.[1]
    if (title !== undefined) {
      section = title
      continue
    }
    const [, name = '', value = ''] = /^([A-Za-z]+)\s*=\s*(.*)$/.exec(line) ?? []
    if (name === '') throw new SvcError('unit_invalid', `not a line of a unit: ${line}`)
    if (section !== 'Service') continue
    settings.set(name, [...(settings.get(name) ?? []), value])
  }
  const all = (setting: string): readonly string[] => settings.get(setting) ?? []
  return { all, last: (setting) => all(setting).at(-1) }
}

function joinContinued(text: string): string[] {
  return text.replaceAll(/\\\n/g, ' ').split('\n')
}
