// Loaded into a hub before its own code (`--import`): a hub whose log has no tree, to measure what the tree costs. It shows agents no
// checkpoints either.

import { registerHooks } from 'node:module'

const LOG_KEEPER = '/src/hub/service/upkeep/log-keeper.ts'
const IDLE_KEEPER = `export const createLogKeeper = () => ({
  run: (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
  newest: undefined,
  coveredAt: { vault: undefined, outside: undefined },
})`

registerHooks({
  load: (url, context, next) =>
    url.endsWith(LOG_KEEPER)
      ? { format: 'module', source: IDLE_KEEPER, shortCircuit: true }
      : next(url, context),
})
