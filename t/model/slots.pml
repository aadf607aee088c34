/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The slots of backends/local/round.c and how a waiting rank sleeps (station.c), for spin: two
 * ranks, operations that either all wait for all in or only rank 0 gives something in, a ring of
 * SLOTS slots, and more operations than slots. Checked: a rank takes what belongs to its operation
 * and nothing that was written over, and nobody sleeps for ever (no invalid end state).
 */
#define SLOTS 2
#define OPERATIONS 6
#define ROOTED(number) ((number) % 3 != 1)

byte stamp[4];   /* [rank * SLOTS + number % SLOTS] */
byte payload[4];
byte done[2];
byte asleep;
bool waits[2];
bool rung[2];

/* The word is written, then it is looked whether somebody sleeps. */
inline wake(other)
{
    if
    :: asleep > 0 && waits[other] -> rung[other] = true
    :: else
    fi
}

/* The sleeper counts itself, then looks at the word for the last time. */
inline await(reached)
{
    do
    :: reached -> break
    :: else ->
        rung[me] = false;
        waits[me] = true;
        asleep++;
        if
        :: reached
        :: else -> rung[me]
        fi;
        asleep--;
        waits[me] = false
    od
}

proctype rank(byte me)
{
    byte number = 1, passed = 0, other = 1 - me;
    do
    :: number > OPERATIONS -> break
    :: else ->
        if
        :: number > SLOTS && passed < number - SLOTS ->
            await(done[other] >= number - SLOTS);
            passed = done[other]
        :: else
        fi;
        payload[me * SLOTS + number % SLOTS] = number;
        stamp[me * SLOTS + number % SLOTS] = number;
        wake(other);
        if
        :: !ROOTED(number) || me == 1 ->
            await(stamp[other * SLOTS + number % SLOTS] >= number);
            assert(stamp[other * SLOTS + number % SLOTS] == number);
            assert(payload[other * SLOTS + number % SLOTS] == number);
            if
            :: passed < number - 1 -> passed = number - 1
            :: else
            fi
        :: else
        fi;
        if
        :: ROOTED(number) ->
            done[me] = number;
            wake(other)
        :: else
        fi;
        number++
    od
}

init
{
    atomic {
        run rank(0);
        run rank(1)
    }
}
