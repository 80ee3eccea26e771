// The real age. For `describe` and `test`: where it is not there, and there is no Go to build it with, they skip.

import { ensureAge } from '../../tools/install-age.ts'

const programs = await ensureAge()

/** Of no use where the tests skip. */
export const AGE = programs ?? { age: '', ageKeygen: '' }

export const WITH_AGE: { readonly skip: string | false } = {
  skip: programs === undefined && 'age is not installed, and there is no Go to build it with',
}
