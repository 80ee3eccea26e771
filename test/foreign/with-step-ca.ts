// For `describe`: where there is no step-ca, and no Go to build it with, its tests skip.

import { ensureStepCa } from '../../tools/install-step-ca.ts'

export const WITH_STEP_CA: { readonly skip: string | false } = {
  skip:
    (await ensureStepCa()) === undefined &&
    'step-ca is not installed, and there is no Go to build it with',
}
