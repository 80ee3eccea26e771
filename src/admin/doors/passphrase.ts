import { type SvcError, UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'
import type { AskHidden } from '../terminal/ask-hidden.ts'

const VARIABLE = 'SVC_MASTER_PASSPHRASE'

/** Where the master passphrase comes from: the environment, else a person, who is asked once. */
export interface PassphraseSource {
  /** Reading it would wait for a person to type. */
  needsPerson(): boolean
  read(): Promise<Secret<string>>
  /** For a new vault: a person types it twice, since a slip would lock everybody out. A weak one is refused. */
  readNew(): Promise<Secret<string>>
  /** Of what was read. */
  faults(): readonly SvcError[]
}

export interface PassphraseOptions {
  /** Undefined when the environment has none. */
  readonly readFromEnvironment: () => Secret<string> | undefined
  /** What makes a passphrase weak, wherever it came from. */
  readonly findFaults: (passphrase: Secret<string>) => readonly SvcError[]
  /** Undefined without a terminal. */
  readonly ask: AskHidden | undefined
}

export function createPassphraseSource({
  readFromEnvironment,
  findFaults,
  ask,
}: PassphraseOptions): PassphraseSource {
  let known: Secret<string> | undefined
  // Read at first use: beside a hub most commands need no passphrase, and so no file that holds it.
  const find = (): Secret<string> | undefined => (known ??= readFromEnvironment())
  const askFor = async (question: string, why = ''): Promise<Secret<string>> => {
    if (ask === undefined) throw passphraseMissing(why)
    return new Secret(await ask(question))
  }
  const refuseWeak = (passphrase: Secret<string>): Secret<string> => {
    const [fault] = findFaults(passphrase)
    if (fault !== undefined) throw fault
    return passphrase
  }
  return {
    faults: () => (known === undefined ? [] : findFaults(known)),
    needsPerson: () => find() === undefined && ask !== undefined,
    read: async () => {
      known =
        find() ??
        (await askFor('master passphrase: ', 'no hub runs on this vault, so svc opens it itself: '))
      return known
    },
    readNew: async () => {
      const given = find()
      if (given !== undefined) return refuseWeak(given)
      const first = refuseWeak(await askFor('new master passphrase: '))
      const second = await askFor('the same again: ')
      if (second.reveal() !== first.reveal()) {
        throw new UserError('passphrases_differ', 'the two passphrases differ')
      }
      return first
    },
  }
}

function passphraseMissing(why: string): UserError {
  return new UserError('config_missing', `${VARIABLE} required`, {
    hint: `${why}set it, or ${VARIABLE}_FILE to the path of a file that holds it`,
  })
}
