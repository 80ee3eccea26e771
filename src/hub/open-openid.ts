// Sign-in by the OpenID provider of the settings, for a hub that has one.

import type { Clock } from '../platform/clock.ts'
import { readVersion } from '../platform/version.ts'
import type { HubConfig } from './config.ts'
import { EVERYBODY } from './domain/openid-roles.ts'
import type { OpenidProvider } from './domain/openid-provider.ts'
import type { ProviderConfig } from './openid-settings.ts'
import type { AddressLookup } from './outbound/address-lookup.ts'
import { createOpenidProvider } from './outbound/openid-provider.ts'
import { createOutsideAgents } from './outbound/outside-agents.ts'
import { readOpenidRoots } from './root-file.ts'
import { createOpenidSignIn, type OpenidSignIn } from './service/admin/openid/openid-sign-in.ts'
import type { Store } from './store/store.ts'
import type { UnsealedVault } from './vault/vault.ts'

export interface OpenedOpenid {
  readonly provider: OpenidProvider
  readonly signIn: OpenidSignIn
}

interface OpenidParts {
  readonly config: Pick<
    HubConfig,
    'openid' | 'consoleUrl' | 'isConsoleServed' | 'confirmationParty'
  >
  readonly vault: Pick<UnsealedVault, 'dataKey'>
  readonly store: Store
  readonly clock: Clock
  readonly lookup: AddressLookup
}

/** Reads the provider's roots, and asks it nothing yet. */
export async function openOpenid(parts: OpenidParts): Promise<OpenedOpenid | undefined> {
  const { config, vault, store, clock, lookup } = parts
  const { openid: settings, consoleUrl, isConsoleServed, confirmationParty } = config
  if (settings === undefined) return undefined
  const provider = await openProvider(settings, clock, lookup)
  const signIn = createOpenidSignIn({
    settings,
    provider,
    store,
    clock,
    dataKey: vault.dataKey,
    consoleUrl: isConsoleServed ? consoleUrl : undefined,
    isAskedAgainForSvc: confirmationParty !== undefined,
  })
  return { provider, signIn }
}

export async function openProvider(
  settings: ProviderConfig,
  clock: Clock,
  lookup: AddressLookup,
): Promise<OpenidProvider> {
  const { nameClaim, groupsClaim, roles } = settings
  const areGroupsAsked = roles.some(({ group }) => group !== EVERYBODY)
  return createOpenidProvider({
    ...settings,
    claimsWanted: areGroupsAsked ? [nameClaim, groupsClaim] : [nameClaim],
    agentFor: createOutsideAgents(lookup, await readOpenidRoots(settings.caPath)),
    version: readVersion(),
    clock,
  })
}
