import assert from 'node:assert/strict'
import { test } from 'node:test'
import { en } from './en.ts'
import { ptBr } from './pt-br.ts'

/** Every text that is made of something, made of ones. */
function* sayOfOnes(table: object, above: string): Generator<readonly string[]> {
  for (const [name, value] of Object.entries(table) as [string, unknown][]) {
    if (typeof value === 'object' && value !== null) yield* sayOfOnes(value, `${above}.${name}`)
    if (typeof value === 'function')
      yield [1, '1'].map((one) => say(value as (...args: unknown[]) => unknown, one))
  }
}

/** Some take numbers, some take what is formatted, and some neither. */
function say(make: (...args: unknown[]) => unknown, one: unknown): string {
  try {
    return String(make(one, one, one, one))
  } catch {
    return ''
  }
}

/** Of limits, which are never one. */
const LIMITS = /^(A hub takes fewer than|Um hub aceita menos de|Estes são os) /

const MANY = {
  en: [
    /(?<![\d.,])1 (hosts|entries|certificates|deliveries|recipients|requests|messages|records|files|tokens|times|others|subscribers)\b/,
    /(?<![\d.,])1 (of 1 \S+ )?(have|are|were|do|end|renew)\b/,
    /\bAll 1\b/,
  ],
  ptBr: [
    /(?<![\d.,])1 (agentes|eventos|certificados|entregas|destinatários|pedidos|mensagens|registros|arquivos|tokens|vezes|outros)\b/,
    /(?<![\d.,])1 (de 1 \S+ )?(não )?(disseram|estão|foram|levam|vencem|renovam|ocultos)\b/,
    /\b[TOo]s 1\b|Todos os 1\b|\bvencem 1\b/,
  ],
}

for (const [name, table] of Object.entries({ en, ptBr })) {
  test(`one thing is one in ${name}`, () => {
    const texts = [...sayOfOnes(table, name)]
    assert.ok(texts.length > 200, String(texts.length))
    const isWrong = (text: string): boolean =>
      MANY[name as 'en' | 'ptBr'].some((many) => many.test(text))
    const wrong = texts.filter((both) => both.every((text) => isWrong(text) && !LIMITS.test(text)))
    assert.deepEqual(wrong, [])
  })
}
