/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The slots and trays of backends/local/round.c and how a waiting rank sleeps (station.c), for
 * spin: two ranks, operations that either all wait for all in or only rank 0 gives something in,
 * every other one on a tray, and more operations than slots. A word that a rank writes may reach
 * memory later than what the rank then reads, unless somebody has the system fence it. Checked: a
 * rank takes what belongs to its operation and nothing that was written over, and nobody waits or
 * sleeps for ever (no invalid end state).
 */
#define SLOTS 8
#define AHEAD 4
#define TRAYS 2
#define TELLS 2
#define OPERATIONS 10
#define TOGETHER(number) ((number) % 3 == 1)
#define ON_TRAY(number) ((number) % 2 == 0)

#define STAMP(rank, number) ((rank) * SLOTS + (number) % SLOTS)
#define DONE(rank) (2 * SLOTS + (rank))

byte words[18];
byte inside[16]; /* [STAMP] */
byte trays[4];   /* [rank * TRAYS + number % TRAYS] */
bool under_way[2];
byte where[2], what[2]; /* a word and its value, where one is under way */
byte asleep;
bool waits[2];
bool rung[2];

inline arrive(rank)
{
    words[where[rank]] = what[rank];
    under_way[rank] = false
}

active [2] proctype memory()
{
    byte rank = _pid;
end:
    do
    :: atomic { under_way[rank] -> arrive(rank) }
    od
}

/* The word is written, then it is looked whether somebody sleeps. */
inline write(word, number)
{
    atomic {
        !under_way[me];
        where[me] = word;
        what[me] = number;
        under_way[me] = true
    }
    if
    :: asleep > 0 ->
        if
        :: atomic { waits[other] -> waits[other] = false; rung[other] = true }
        :: else
        fi
    :: else
    fi
}

/* The sleeper counts itself, has the writer fenced, then looks at the word for the last time. */
inline await(reached)
{
    do
    :: reached -> break
    :: else ->
        rung[me] = false;
        waits[me] = true;
        atomic { !under_way[me]; asleep++ }
        atomic { if :: under_way[other] -> arrive(other) :: else fi } /* the fence */
        if
        :: reached
        :: else -> rung[me]
        fi;
        asleep--;
        waits[me] = false
    od
}

inline await_left(last)
{
    if
    :: number > last && passed < number - last ->
        await(words[DONE(other)] >= number - last);
        passed = words[DONE(other)]
    :: else
    fi
}

inline give()
{
    await_left(AHEAD);
    if
    :: ON_TRAY(number) ->
        await_left(TRAYS);
        trays[me * TRAYS + number % TRAYS] = number
    :: else -> inside[STAMP(me, number)] = number
    fi;
    write(STAMP(me, number), number)
}

inline take()
{
    await(words[STAMP(other, number)] >= number);
    assert(words[STAMP(other, number)] == number);
    if
    :: ON_TRAY(number) -> assert(trays[other * TRAYS + number % TRAYS] == number)
    :: else -> assert(inside[STAMP(other, number)] == number)
    fi;
    if
    :: passed < number - 1 -> passed = number - 1
    :: else
    fi
}

inline leave()
{
    if
    :: TOGETHER(number) -> told = number - 1
    :: !TOGETHER(number) && number - told >= TELLS ->
        told = number;
        write(DONE(me), number)
    :: else
    fi
}

proctype rank(byte me)
{
    byte number = 1, passed = 0, told = 0, other = 1 - me;
    do
    :: number > OPERATIONS -> break
    :: else ->
        give();
        if
        :: TOGETHER(number) || me == 1 -> take()
        :: else
        fi;
        leave();
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
