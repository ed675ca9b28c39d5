// What the bindings share: arrays as they come from Python, and work without its lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>

#include "team.hpp"

namespace nb = nanobind;

namespace {

template <class V>
using Array1 = nb::ndarray<const V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class V>
using Array2 = nb::ndarray<const V, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class V>
using Maybe1 = std::optional<Array1<V>>;
template <class V>
using Output1 = nb::ndarray<V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class V>
using Output2 = nb::ndarray<V, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Callback = std::optional<nb::callable>;

template <class A>
auto data_or_null(const std::optional<A>& array) -> decltype(array->data()) {
    return array ? array->data() : nullptr;
}

// Ctrl-C, seen by the thread that called; the exception is raised when the team has come to rest.
inline bool interrupted() {
    nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

// Runs without the lock of the interpreter; rethrows what a signal or the callback has raised.
template <class Body>
void without_gil(int n_threads, Body&& body) {
    {
        nb::gil_scoped_release released;
        sgc::Team team(n_threads, interrupted);
        body(team);
    }
    if (PyErr_Occurred()) throw nb::python_error();
}

// Calls the callback, if there is one, with the lock; what it raises stops the team.
inline std::function<void(int64_t, int64_t)> reporter(sgc::Team& team, const Callback& callback) {
    return [&team, &callback](int64_t done, int64_t of) {
        if (!callback) return;
        nb::gil_scoped_acquire gil;
        try {
            (*callback)(done, of);
        } catch (nb::python_error& error) {
            error.restore();
            team.stop();
        }
    };
}

}  // namespace
