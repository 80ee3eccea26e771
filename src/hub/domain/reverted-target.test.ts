import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTargetNews } from './reverted-target.ts'

const REVERTED = { nome: 'site', alvo: 'nginx.toml', step: 'reload', reason: 'exit status 1' }
const FIRST = 'alvo_revertido reload: exit status 1'

test('[DEL-19] a target that is taken back has its file, its reason and what its command printed', () => {
  const output = 'nginx: [emerg]\nnginx: test failed'
  assert.deepEqual(readTargetNews('alvo_revertido', { ...REVERTED, output }), {
    kind: 'reverted',
    target: 'nginx.toml',
    error: `${FIRST}\n${output}`,
  })
})

test('[DEL-18] an agent up to 0.4.0 names no target, and a name that could be none is not taken', () => {
  for (const alvo of [undefined, 7, '', '../x', 'a\u001b[2J', 'x'.repeat(256)]) {
    const news = readTargetNews('alvo_revertido', { ...REVERTED, alvo })
    assert.deepEqual(news, { kind: 'reverted', target: '', error: FIRST })
    assert.deepEqual(readTargetNews('alvo_aplicado', { alvo }), {
      kind: 'settled',
      target: undefined,
    })
  }
})

test('[DEL-18] it ends when the target is applied, or is no longer on the host', () => {
  for (const type of ['alvo_aplicado', 'alvo_removido']) {
    assert.deepEqual(readTargetNews(type, REVERTED), { kind: 'settled', target: 'nginx.toml' })
  }
  for (const type of ['entrega_instalada', 'cert_renewed', 'hook_falhou']) {
    assert.equal(readTargetNews(type, REVERTED), undefined)
  }
})

test('[DEL-19] whatever an agent sends, the text is bounded: the last 20 lines of an output, 2048 characters', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`)
  const news = readTargetNews('alvo_revertido', { ...REVERTED, output: lines.join('\n') })
  assert.equal(news?.kind, 'reverted')
  assert.deepEqual(news.error.split('\n'), [FIRST, ...lines.slice(-20)])
  const long = 'x'.repeat(10_000)
  const longest = readTargetNews('alvo_revertido', { step: long, reason: long, output: long })
  assert.equal(longest?.kind, 'reverted')
  assert.equal(longest.error.length, 'alvo_revertido '.length + 32 + 2 + 1024 + 1 + 2048)
  const broken = readTargetNews('alvo_revertido', { step: 1, reason: { output: 2 } })
  assert.deepEqual(broken, { kind: 'reverted', target: '', error: 'alvo_revertido : ' })
})
