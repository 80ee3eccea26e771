// Units and environment files, read as systemd reads them (systemd.syntax(7), systemd.exec(5)).

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

/** No shell: nothing is expanded; quotes around a whole value go, and a backslash takes the next character as it is. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const line of joinContinued(text)) {
    if (/^\s*([#;]|$)/.test(line)) continue
    const [, name, value = ''] = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? []
    if (name === undefined) throw new SvcError('environment_invalid', `not a variable: ${line}`)
    variables[name] = unquote(value.trim())
  }
  return variables
}

function joinContinued(text: string): string[] {
  return text.replaceAll(/\\\n/g, ' ').split('\n')
}

function unquote(value: string): string {
  const single = /^'([^']*)'$/.exec(value)?.[1]
  if (single !== undefined) return single
  return value.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1')
}
