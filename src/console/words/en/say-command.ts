// A command of `svc` in English. In the console's source it stands in the words of the wire, which svc takes too.

import { COMMAND_WORDS, OPTION_WORDS, VALUE_WORDS } from '../../../protocol/spoken-words.ts'

const NOUNS = englishOf(COMMAND_WORDS)
const OPTIONS = englishOf(OPTION_WORDS)
const VALUES = englishOf(VALUE_WORDS)

/** What stands in quotes, and what names something, stays as it is. */
export function sayCommand(command: string): string {
  if (!command.startsWith('svc ')) return command
  return command
    .replace(/^svc ([a-z]+)/, (_match, noun: string) => `svc ${NOUNS.get(noun) ?? noun}`)
    .split(/('(?:[^']|'\\'')*'|"[^"]*")/)
    .map((part, at) => (at % 2 === 0 ? sayOptions(part) : part))
    .join('')
}

function sayOptions(part: string): string {
  return part.replaceAll(
    /(?<= )--([a-z-]+)( [a-z_]+(?= |$))?/g,
    (_match, option: string, value = '') =>
      `--${OPTIONS.get(option) ?? option}${sayValue(option, value as string)}`,
  )
}

function sayValue(option: string, value: string): string {
  if (option !== 'tipo' && option !== 'status') return value
  const word = VALUES.get(value.trim())
  return word === undefined ? value : ` ${word}`
}

function englishOf(
  words: Readonly<Record<string, readonly [en: string, pt: string]>>,
): ReadonlyMap<string, string> {
  return new Map(Object.values(words).map(([en, pt]) => [pt, en]))
}
