// The CA and the hub that all tests of a file share.

import { after, before } from 'node:test'
import { startDevCa } from '../../support/dev-ca.ts'
import type { TestHub } from '../../support/hub.ts'
import { startTestHub } from '../../support/test-hub.ts'
import type { RunningCa } from '../../support/running-ca.ts'

export interface ServicesHub {
  readonly ca: RunningCa
  readonly hub: TestHub
}

/** Registers the hooks within a suite, so that a suite that is skipped starts nothing; to be called in tests. */
export function useServicesHub(): () => ServicesHub {
  const started = new AsyncDisposableStack()
  let running: ServicesHub | undefined
  before(async () => {
    const ca = started.use(await startDevCa())
    const environment = { SVC_SERVER_CN: 'localhost' }
    const hub = started.use(await startTestHub({ caEnvironment: ca.environment, environment }))
    running = { ca, hub }
  })
  after(() => started.disposeAsync())
  return () => {
    if (running === undefined) throw new Error('there is no hub before the hooks have run')
    return running
  }
}
