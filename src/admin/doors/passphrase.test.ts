import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'
import type { AskHidden } from '../terminal/ask-hidden.ts'
import { createPassphraseSource } from './passphrase.ts'

/** A person who types these lines, and says what they were asked. */
function createPerson(answers: readonly string[]): { ask: AskHidden; questions: string[] } {
  const questions: string[] = []
  const ask = (question: string): Promise<string> => {
    questions.push(question)
    return Promise.resolve(answers[questions.length - 1] ?? assert.fail('asked too often'))
  }
  return { ask, questions }
}

const nothing = (): undefined => undefined
const findFaults = (): [] => []

describe('the master passphrase', () => {
  test('is that of the environment, without asking anybody', async () => {
    const { ask, questions } = createPerson([])
    const source = createPassphraseSource({
      readFromEnvironment: () => new Secret('set'),
      findFaults,
      ask,
    })
    assert.equal(source.needsPerson(), false)
    assert.equal((await source.read()).reveal(), 'set')
    assert.equal((await source.readNew()).reveal(), 'set')
    assert.deepEqual(questions, [])
  })

  test('is asked for once', async () => {
    const { ask, questions } = createPerson(['typed'])
    const source = createPassphraseSource({ readFromEnvironment: nothing, findFaults, ask })
    assert.equal(source.needsPerson(), true)
    assert.equal((await source.read()).reveal(), 'typed')
    assert.equal(source.needsPerson(), false)
    assert.equal((await source.read()).reveal(), 'typed')
    assert.deepEqual(questions, ['master passphrase: '])
  })

  test('is asked for twice when it is new', async () => {
    const { ask, questions } = createPerson(['typed', 'typed'])
    const source = createPassphraseSource({ readFromEnvironment: nothing, findFaults, ask })
    assert.equal((await source.readNew()).reveal(), 'typed')
    assert.deepEqual(questions, ['new master passphrase: ', 'the same again: '])
  })

  test('is refused when it is new and mistyped', async () => {
    const { ask } = createPerson(['typed', 'typde'])
    const source = createPassphraseSource({ readFromEnvironment: nothing, findFaults, ask })
    await assert.rejects(source.readNew(), { code: 'passphrases_differ' })
  })

  test('[CLI-14] is required when there is nobody to ask', async () => {
    const source = createPassphraseSource({
      readFromEnvironment: nothing,
      findFaults,
      ask: undefined,
    })
    assert.equal(source.needsPerson(), false)
    const hint = 'set it, or SVC_MASTER_PASSPHRASE_FILE to the path of a file that holds it'
    await assert.rejects(source.read(), { message: 'SVC_MASTER_PASSPHRASE required', hint })
    await assert.rejects(source.read('no hub runs: '), { hint: `no hub runs: ${hint}` })
    await assert.rejects(source.readNew(), { message: 'SVC_MASTER_PASSPHRASE required' })
  })

  test('[VLT-18] is refused when it is new and weak, before it is asked for again', async () => {
    const weak = new UserError('passphrase_short', 'too short')
    const { ask, questions } = createPerson(['a'])
    const options = { findFaults: () => [weak], ask }
    const typed = createPassphraseSource({ ...options, readFromEnvironment: nothing })
    await assert.rejects(typed.readNew(), weak)
    assert.deepEqual(questions, ['new master passphrase: '])
    const given = createPassphraseSource({
      ...options,
      readFromEnvironment: () => new Secret('a'),
    })
    await assert.rejects(given.readNew(), weak)
    assert.equal((await given.read()).reveal(), 'a')
    assert.deepEqual(given.faults(), [weak])
  })
})
