// JSON that is dear to read: numbers at the edge of a double, names that were never seen, nesting.

import type { Random } from '../../../test/simulation/seeded-random.ts'
import type { Grammar } from './genome.ts'

/** `#` stands for letters that never came before. */
const UNITS = [
  '1e1',
  '0e9',
  '5e-324',
  '1.7976931348623157e308',
  '9007199254740993',
  '0.30000000000000004',
  '-1',
  '""',
  '"#"',
  '"\\u0061"',
  '"\\""',
  '[]',
  '{}',
  '{"a":0}',
  '{"#":0}',
  '{"a":{"#":0}}',
  '[[[[[[]]]]]]',
  'true',
] as const

export const jsonGrammar: Grammar = {
  wrappers: ['array', 'object of one name', 'object of new names', 'nested arrays'],
  units: UNITS,
  found: [
    { wrapper: 'array', units: ['1e1'], size: 1 },
    { wrapper: 'array', units: ['{"#":0}'], size: 1 },
    { wrapper: 'nested arrays', units: ['{}'], size: 1 },
  ],
  write: ({ wrapper, units, size }, bytesMax, random) => {
    const parts: string[] = []
    let bytes = 0
    for (let index = 0; ; index += 1) {
      const unit = renew(units[index % units.length] ?? '0', random)
      const part = memberOf(wrapper, unit, random)
      bytes += part.length + 1
      if (bytes > bytesMax * size - 2) break
      parts.push(part)
    }
    const isObject = wrapper.startsWith('object')
    return `${isObject ? '{' : '['}${parts.join(',')}${isObject ? '}' : ']'}`
  },
}

function memberOf(wrapper: string, unit: string, random: Random): string {
  if (wrapper === 'object of one name') return `"a":${unit}`
  if (wrapper === 'object of new names') return renew(`"#":${unit}`, random)
  if (wrapper === 'nested arrays') return `${'['.repeat(16)}${unit}${']'.repeat(16)}`
  return unit
}

function renew(text: string, random: Random): string {
  return text.replaceAll('#', () => Math.floor(random() * 36 ** 6).toString(36))
}
