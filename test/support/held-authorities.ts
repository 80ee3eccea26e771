// Authorities as the contract suite holds them: the client of the hub, made as the hub makes it.

import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { systemClock } from '../../src/platform/clock.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import { parseAccountKey } from '../../src/hub/ca/acme/acme-account-key.ts'
import { createAcmeClient } from '../../src/hub/ca/acme/acme-client.ts'
import { type ChallengeType, createHook } from '../../src/hub/ca/acme/acme-hook.ts'
import { createOpenBaoClient } from '../../src/hub/ca/openbao/openbao-client.ts'
import type { OpenBaoLogin } from '../../src/hub/ca/openbao/openbao-login.ts'
import { parseProvisionerKey } from '../../src/hub/ca/provisioner-key.ts'
import { createStepCaClient } from '../../src/hub/ca/step-ca-client.ts'
import { generateProvisionerJwk } from '../../src/dev-ca/provisioner.ts'
import type { HeldAuthority } from '../e2e/hold-to-contract.ts'
import type { RunningOpenBao } from './openbao.ts'
import type { RunningPebble } from './pebble.ts'
import type { RunningCa } from './running-ca.ts'

const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
const surroundings = { clock: systemClock, logger: logging.forModule('ca') }

/** A step-ca, or one that speaks its API. */
export async function heldStepCa(ca: RunningCa): Promise<HeldAuthority> {
  const ownRootPem = await readFile(ca.rootPath, 'utf8')
  const otherKey = JSON.stringify(await generateProvisionerJwk())
  return {
    rootPem: ownRootPem,
    client: ({ server, rootPem = ownRootPem, areCredentialsWrong, deadlineMs } = {}) =>
      createStepCaClient({
        ...surroundings,
        caUrl: server?.url ?? new URL(ca.url),
        rootPem: server?.rootPem ?? rootPem,
        provisionerKey: parseProvisionerKey(
          areCredentialsWrong === true ? otherKey : ca.provisionerKey,
        ),
        provisionerKid: ca.provisionerKid,
        provisionerName: ca.provisionerName,
        ...(deadlineMs !== undefined && { deadlineMs }),
      }),
    stop: () => ca.stop(),
    start: () => ca.start(),
    [Symbol.asyncDispose]: () => ca[Symbol.asyncDispose](),
  }
}

export function heldOpenBao(
  bao: RunningOpenBao,
  by: OpenBaoLogin['by'],
  namespace?: string,
): HeldAuthority {
  const loginOf = (areCredentialsWrong: boolean): OpenBaoLogin => {
    const secret = (text: string) => new Secret(areCredentialsWrong ? 's.another-one' : text)
    if (by === 'token') return { by, token: secret(bao.token) }
    return { by, mount: 'approle', roleId: bao.roleId, secretId: secret(bao.secretId) }
  }
  return {
    rootPem: bao.rootPem,
    client: ({ server, rootPem = bao.rootPem, areCredentialsWrong = false, deadlineMs } = {}) =>
      createOpenBaoClient({
        ...surroundings,
        caUrl: server?.url ?? new URL(bao.url),
        rootPem,
        tlsRootPem: server?.rootPem ?? bao.tlsRootPem,
        mount: 'pki_hosts',
        role: 'hosts',
        namespace,
        login: loginOf(areCredentialsWrong),
        ...(deadlineMs !== undefined && { deadlineMs }),
      }),
    stop: () => bao.stop(),
    start: () => bao.start(),
    [Symbol.asyncDispose]: () => bao[Symbol.asyncDispose](),
  }
}

export function heldPebble(pebble: RunningPebble, challengeType: ChallengeType): HeldAuthority {
  const { externalAccount } = pebble
  const macKey = (areWrong: boolean) =>
    new Secret(
      areWrong ? Buffer.alloc(32, 'x') : Buffer.from(externalAccount?.key ?? '', 'base64url'),
    )
  // One account for all of the right ones, and another key for the wrong ones, whose account is not there yet.
  const strangerPem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const keyOf = (isStranger: boolean): string =>
    isStranger
      ? strangerPem.export({ format: 'pem', type: 'pkcs8' }).toString()
      : pebble.accountKeyPem
  return {
    get rootPem() {
      return pebble.rootPem
    },
    client: ({ server, rootPem, areCredentialsWrong = false, deadlineMs } = {}) =>
      createAcmeClient({
        ...surroundings,
        directoryUrl: server?.url ?? pebble.directoryUrl,
        rootPem: rootPem ?? pebble.rootPem,
        tlsRootPem: server?.rootPem ?? pebble.tlsRootPem,
        accountKey: parseAccountKey(keyOf(areCredentialsWrong)),
        externalAccount: externalAccount && {
          kid: externalAccount.kid,
          key: macKey(areCredentialsWrong),
        },
        challengeType,
        runHook: createHook(pebble.hookPath, surroundings.logger),
        ...(deadlineMs !== undefined && { deadlineMs }),
      }),
    stop: () => pebble.stop(),
    start: () => pebble.start(),
    [Symbol.asyncDispose]: () => pebble[Symbol.asyncDispose](),
  }
}
